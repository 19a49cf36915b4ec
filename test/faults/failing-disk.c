/*
 * Preloaded into a program under test: makes calls on the file whose path ends in FAIL_FILE fail as the
 * file FAIL_CONTROL specifies.
 * FAIL_CONTROL contains a letter and an error number. The letter selects the failing calls: w for data writes, p for
 * data writes by lmdb only (trial writes contain zeros), m for meta page writes (O_DSYNC), s for syncs.
 * Alternatively, all calls on that file numbered FAIL_FROM to FAIL_TO fail with the error FAIL_ERROR.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_file(int fd) {
  const char *end = getenv("FAIL_FILE");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (!end || length < (ssize_t)strlen(end)) return 0;
  path[length] = 0;
  return strcmp(path + length - strlen(end), end) == 0;
}

/* Returns the number in an environment variable, or 0. */
static int number_of(const char *name) {
  const char *text = getenv(name);
  return text ? atoi(text) : 0;
}

static int calls;

static int error_of_next_call(void) {
  int call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  return call >= number_of("FAIL_FROM") && call <= number_of("FAIL_TO") ? number_of("FAIL_ERROR") : 0;
}

/* Returns the error number for calls of this kind, or 0. */
static int error_of(int fd, char kind) {
  char text[32] = {0};
  char wanted = 0;
  int number = 0;
  if (!is_file(fd)) return 0;
  if (getenv("FAIL_FROM")) return error_of_next_call();
  int control = syscall(SYS_openat, AT_FDCWD, getenv("FAIL_CONTROL"), O_RDONLY | O_CLOEXEC);
  if (control < 0) return 0;
  if (syscall(SYS_read, control, text, sizeof text - 1) > 0) sscanf(text, "%c %d", &wanted, &number);
  syscall(SYS_close, control);
  return wanted == kind ? number : 0;
}

static int error_of_write(int fd, const char *data) {
  if (fcntl(fd, F_GETFL) & O_DSYNC) return error_of(fd, 'm');
  int error = error_of(fd, 'w');
  /* An lmdb page starts with its number. */
  return error || getenv("FAIL_FROM") || !*(const long *)data ? error : error_of(fd, 'p');
}

#define FAIL_IF(number)        \
  do {                         \
    int failure = number;      \
    if (failure) {             \
      errno = failure;         \
      return -1;               \
    }                          \
  } while (0)

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  FAIL_IF(error_of_write(fd, data));
  return syscall(SYS_pwrite64, fd, data, length, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return pwrite(fd, data, length, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
  FAIL_IF(error_of_write(fd, parts[0].iov_base));
  return syscall(SYS_writev, fd, parts, count);
}
int fdatasync(int fd) {
  FAIL_IF(error_of(fd, 's'));
  return syscall(SYS_fdatasync, fd);
}
int fsync(int fd) {
  FAIL_IF(error_of(fd, 's'));
  return syscall(SYS_fsync, fd);
}
