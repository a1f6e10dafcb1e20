"""Where checks run. Every executor implements `executor.Executor`."""
