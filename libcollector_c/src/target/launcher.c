/* launcher.c -- what a process asks of `collector record`, which can hold perf events open for it */
#include "target/launcher.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/text_format.h"

#define TOKEN_BYTES 16
#define SOCKET_FILE "launcher.socket"
#define ANSWERED_AT_ONCE '!' /* behind the abstract name */

enum kind { HOLD = 1, RELEASE = 2, SUSPEND = 3, NO_LOG = 4, CLOSE = 5 };

/* One packet. The token shows that the sender was told the address by the launcher: names of abstract sockets are public. */
struct request {
    char token[TOKEN_BYTES];
    uint32_t kind;
    uint32_t process, thread; /* as this process counts them; in a PID namespace the launcher counts otherwise */
    uint32_t use;             /* of NO_LOG: the error */
};

struct address {
    socklen_t bytes; /* 0: none */
    struct sockaddr_un name;
};

static struct {
    char token[TOKEN_BYTES];
    struct address addresses
        [2]; /* an abstract name, which network namespaces hide, and a path, which roots, mounts and permissions hide */
} self;

void col_launcher_remember(const char *address, const char *experiment)
{
    const char *colon = address != NULL ? strchr(address, ':') : NULL;
    struct address *abstract = &self.addresses[0], *path = &self.addresses[1];
    abstract->bytes = path->bytes = 0;
    if (colon == NULL || strlen(colon + 1) != TOKEN_BYTES ||
        (size_t)(colon - address) >= sizeof abstract->name.sun_path)
        return;
    memcpy(self.token, colon + 1, TOKEN_BYTES);
    abstract->name.sun_family = path->name.sun_family = AF_UNIX;
    memcpy(abstract->name.sun_path + 1, address, (size_t)(colon - address));
    abstract->bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)(colon - address));
    if (strlen(experiment) + sizeof "/" SOCKET_FILE > sizeof path->name.sun_path)
        return;
    col_text_print_into(path->name.sun_path, sizeof path->name.sun_path, "%s/" SOCKET_FILE, experiment);
    path->bytes = sizeof path->name;
}

/* Nobody listens there any more, or can be seen from here: it is not tried again. */
static bool is_final(long error)
{
    return error == -ECONNREFUSED || error == -ENOENT || error == -EACCES;
}

static int connect_to_any(int fd)
{
    long error = -ENOTCONN;
    for (struct address *address = self.addresses; error != 0 && address < self.addresses + 2; address++) {
        socklen_t bytes = __atomic_load_n(&address->bytes, __ATOMIC_RELAXED);
        error = bytes == 0 ? error : col_arch_syscall(SYS_connect, fd, (long)&address->name, (long)bytes, 0, 0, 0);
        if (is_final(error))
            __atomic_store_n(&address->bytes, 0, __ATOMIC_RELAXED);
    }
    return (int)error;
}

/* Where the launcher looks at once, an abstract name as well: elsewhere it looks every 10 ms. */
static int connect_for_answer(int fd)
{
    struct address address = self.addresses[0];
    if (address.bytes == 0 || address.bytes >= sizeof address.name)
        return -ENOTCONN;
    ((char *)&address.name)[address.bytes++] = ANSWERED_AT_ONCE;
    return (int)col_arch_syscall(SYS_connect, fd, (long)&address.name, (long)address.bytes, 0, 0, 0);
}

/* A connected socket, or -errno. */
static int open_connection(bool wants_answer)
{
    if (self.addresses[0].bytes == 0 && self.addresses[1].bytes == 0)
        return -ENOTCONN;
    int fd = (int)col_arch_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
    int error = fd < 0 ? fd : -ENOTCONN;
    if (fd >= 0 && wants_answer)
        error = connect_for_answer(fd);
    if (fd >= 0 && error != 0)
        error = connect_to_any(fd);
    if (fd >= 0 && error != 0)
        col_os_close(fd);
    return error != 0 ? error : fd;
}

/* `passed`: a descriptor to go with the request, or -1. 0 or -errno. */
static int send_request(int connection, struct request request, int passed)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec data = {&request, sizeof request};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    request.process = (uint32_t)col_os_process_id();
    memcpy(request.token, self.token, TOKEN_BYTES);
    memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
    if (passed >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    long sent = col_arch_syscall(SYS_sendmsg, connection, (long)&message, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0, 0);
    return sent == (long)sizeof request ? 0 : sent < 0 ? (int)sent : -EIO;
}

/* Without an answer. */
static int tell(struct request request, int passed)
{
    int connection = open_connection(false);
    if (connection < 0)
        return connection;
    int error = send_request(connection, request, passed);
    col_os_close(connection);
    return error;
}

int col_launcher_hold(int fd, uint32_t thread, unsigned use)
{
    return tell((struct request){.kind = HOLD, .thread = thread, .use = use}, fd);
}

void col_launcher_note_no_log(int error)
{
    tell((struct request){.kind = NO_LOG, .use = (uint32_t)-error}, -1);
}

void col_launcher_close(uint32_t thread, unsigned use)
{
    tell((struct request){.kind = CLOSE, .thread = thread, .use = use}, -1);
}

/* The launcher answers by one byte; a launcher that dies, by none. */
static bool await_answer(int connection, int patience_ms)
{
    struct pollfd poll = {.fd = connection, .events = POLLIN};
    struct timespec left = {patience_ms / 1000, patience_ms % 1000 * 1000000l};
    long count;
    char answer;
    do
        count = col_arch_syscall(SYS_ppoll, (long)&poll, 1, (long)&left, 0, 0,
                                 0); /* the kernel takes from `left` what has passed */
    while (count == -EINTR);
    return count == 1 && col_arch_syscall(SYS_read, connection, (long)&answer, 1, 0, 0, 0) == 1;
}

static bool ask(enum kind kind, int patience_ms)
{
    int connection = open_connection(true);
    if (connection < 0)
        return false;
    bool is_done =
        send_request(connection, (struct request){.kind = kind}, -1) == 0 && await_answer(connection, patience_ms);
    col_os_close(connection);
    return is_done;
}

bool col_launcher_suspend(int patience_ms)
{
    return ask(SUSPEND, patience_ms);
}

bool col_launcher_release(int patience_ms)
{
    return ask(RELEASE, patience_ms);
}
