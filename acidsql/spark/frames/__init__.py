"""DataFrames that callers give with statements, and those that statements answer with.

`caller_frames` reads what is given, `answer_frames` raises acidsql's errors from later jobs, `readers` keeps the
transaction of a frame open as long as the frame exists.
"""
