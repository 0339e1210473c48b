"""The catalog and the transactions: the protocols (`client`), and one package for each implementation."""
