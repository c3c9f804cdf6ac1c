"""Statements about paths that are decided by linear programs and checked in rational arithmetic."""
