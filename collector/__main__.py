"""__main__ -- python -m collector is the same as the command collector"""

from collector.cli.main import run_as_command

if __name__ == "__main__":
    run_as_command()
