"""The phases of a session, in their order: prepare, golden runs, search, ending."""
