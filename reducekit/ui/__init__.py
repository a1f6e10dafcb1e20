"""The page: a web server on this machine's loopback interface, for sessions and hunts.

The server holds open files and what is displayed; each run is a separate process (`child`), so that
runs slow down neither each other nor the page, and none outlives the server.
"""
