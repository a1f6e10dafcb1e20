"""The page: a web server on this machine's loopback, over sessions and hunts.

The server holds what is open and shown; each run is a process of its own (`child`), so that
runs do not slow each other or the page, and none outlives the server.
"""
