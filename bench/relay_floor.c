/* What lies below every figure of output and echo: two processes, and no logic.
 *
 *     relay_floor keep COMMAND...    reads what a program prints, and throws it away
 *     relay_floor show COMMAND...    passes it on to a terminal, and keys back
 *
 * `show` is a holder and a client as holdfast has them: one process has the program's
 * terminal, another the user's, and a Unix socket is between them. Nothing is kept,
 * judged, written down or looked at. bench/floor.py builds it where there is a compiler.
 */

#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

enum { READ = 65536 };

static char room[READ];

/* Pass on what can be read now, all of it; 0 at the end. */
static int pass(int from, int to)
{
    ssize_t size = read(from, room, READ);
    for (ssize_t done = 0; done < size;) {
        ssize_t wrote = to < 0 ? size : write(to, room + done, size - done);
        if (wrote < 0)
            return 0;
        done += wrote;
    }
    return size > 0;
}

/* Carry both ways until one side ends. */
static void carry(int one, int other, int other_out)
{
    struct pollfd both[2] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
    while (poll(both, 2, -1) > 0) {
        if (both[0].revents && !pass(one, other_out))
            return;
        if (both[1].revents && !pass(other, one))
            return;
    }
}

static int started(char **command)
{
    struct winsize size = {24, 80, 0, 0};
    int master;
    if (forkpty(&master, NULL, NULL, &size) == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    return master;
}

static void show(char **command)
{
    struct termios raw;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        exit(1);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        carry(started(command), pair[1], pair[1]);
        _exit(0);
    }
    close(pair[1]);
    tcgetattr(0, &raw);
    cfmakeraw(&raw);
    tcsetattr(0, TCSANOW, &raw);
    carry(pair[0], 0, 1);
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    if (words[1][0] == 's')
        show(words + 2);
    else
        for (int master = started(words + 2); pass(master, -1);)
            ;
    return 0;
}
