"""The catalog and the transactions of a warehouse.

`client` joins the protocols `catalog`, `transaction_client`, `written_files`, `compactions` and `streams`; `sqlite` and
`hive` implement them, `registry` opens one. Begin with `client`, then `transactions`, which runs a transaction with its
heartbeat. Only `registry` names the implementations.
"""
