"""Where checks run. Every executor has the methods of `executor.Executor`."""
