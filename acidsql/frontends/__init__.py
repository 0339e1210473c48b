"""The ways in: the command line, the shell, the notebook magics, scripts and `acidsql inspect`."""
