"""The front ends: the command line, the shell, the notebook magics, scripts and `acidsql inspect`.

Begin with `cli`; `shell` is the prompt, `magic` the notebook's cells, `render` makes text of results.
"""
