"""The function run on stand-ins: its forks, conditions, paths and outputs, and the check against the program itself."""
