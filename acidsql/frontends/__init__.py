"""The front ends: the command line, the shell, the notebook magics, scripts and `acidsql inspect`."""
