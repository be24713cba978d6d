#!/usr/bin/env python3
"""Runs a command, prints what it cost, and ends what it leaves behind.

    measured.py RESULTS NAME COMMAND...   appends {"name", "seconds", "cpu", "code"} as a line of JSON to the file RESULTS
    measured.py RESULTS                   prints the lines as a table

Every process that the command starts counts, also those that were detached or whose parent was killed: on Linux they become children of this
process (PR_SET_CHILD_SUBREAPER, prctl(2)). When the command has ended, or this process is told to end, they get time to clean up and are
killed then. A command that leaves processes behind has failed.
"""
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLEANUP_SECONDS = 30


def adopt_orphans():
    if sys.platform != 'linux':
        return
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # The caller may be killed without a chance to end this process.
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def children():
    try:
        with open(f'/proc/self/task/{os.getpid()}/children') as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # not Linux
        return []


def command_of(pid):
    try:
        with open(f'/proc/{pid}/cmdline') as file:
            return file.read().replace('\0', ' ').strip()[:120]
    except OSError:
        return ''


def wait_for(pid):
    """Waits for the command. An adopted process that has ended is reaped at once: until then its id would look alive to others."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def reap():
    """Waits for children that have ended; returns how many have not."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if pid == 0:
            return len(children())


def end_all(number):
    """Sends a signal to all descendants that are children of this process by now."""
    for pid in children():
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def wait_for_all(seconds):
    deadline = time.monotonic() + seconds
    while reap() > 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    return [f'{pid} {command_of(pid)}' for pid in children()]


def run(name, command):
    """Returns the result of the command; exits when a signal has ended it."""
    began = time.monotonic()
    ended_by = []
    started = []

    def end(number, _frame):
        ended_by.append(number)
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        signal.alarm(CLEANUP_SECONDS)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(started[0].pid, signal.SIGKILL))
    # In a group of its own, which gets the signals: npm does not pass them on to what its scripts have started.
    process = subprocess.Popen(command, start_new_session=True)
    started.append(process)
    if ended_by:
        end(ended_by[0], None)
    code = wait_for(process.pid)
    signal.alarm(0)
    left = wait_for_all(CLEANUP_SECONDS if ended_by else 10)
    while left:
        end_all(signal.SIGKILL)
        if not wait_for_all(1):
            break
    if ended_by:
        sys.exit(128 + ended_by[0])
    if left:
        print(f'{name} has left processes behind:', *left, sep='\n  ', file=sys.stderr)
        code = code or 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        'name': name,
        'seconds': round(time.monotonic() - began, 1),
        'cpu': round(used.ru_utime + used.ru_stime, 1),
        'code': code if code >= 0 else 128 - code,
    }


def print_table(results):
    with open(results) as file:
        rows = [json.loads(line) for line in file]
    total = {key: sum(row[key] for row in rows) for key in ('seconds', 'cpu')}
    print('\n seconds   CPU s  step')
    for row in [*rows, {**total, 'name': 'all', 'code': 0}]:
        failed = '' if row['code'] == 0 else f" (failed with {row['code']})"
        print(f"{row['seconds']:8.0f}{row['cpu']:8.0f}  {row['name']}{failed}")


def main():
    results, *rest = sys.argv[1:]
    if not rest:
        return print_table(results)
    name, *command = rest
    adopt_orphans()
    result = run(name, command)
    with open(results, 'a') as file:
        file.write(json.dumps(result) + '\n')
    sys.exit(result['code'])


main()
