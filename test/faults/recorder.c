/*
 * Preloaded into a program under test: records every write and sync of the file RECORD_FILE, and every write to
 * RECORD_ACKS, in the order they happen, into RECORD_LOG. A write is recorded before it is made, its end after.
 *
 * A record: kind (1 byte), offset and length (8 bytes each, little-endian), data.
 * Kinds: w write issued, d synchronous write (O_DSYNC) issued, e synchronous write ended, s sync begun, S sync ended,
 * t truncated (to offset), a acknowledgement, m memory synced.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;

static void put(const void *data, size_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t done = syscall(SYS_write, out, at, length);
    if (done <= 0) abort();
    at += done;
    length -= done;
  }
}

static void record(char kind, uint64_t offset, const struct iovec *parts, int count) {
  uint64_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  pthread_mutex_lock(&lock);
  if (out < 0) out = syscall(SYS_openat, AT_FDCWD, getenv("RECORD_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  put(&kind, 1);
  put(&offset, 8);
  put(&length, 8);
  for (int i = 0; i < count; i++) put(parts[i].iov_base, parts[i].iov_len);
  pthread_mutex_unlock(&lock);
}

static int is_file(int fd, const char *variable) {
  const char *path = getenv(variable);
  struct stat wanted, held;
  return path && fstat(fd, &held) == 0 && S_ISREG(held.st_mode) && stat(path, &wanted) == 0 &&
         held.st_ino == wanted.st_ino && held.st_dev == wanted.st_dev;
}

static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset) {
  if (is_file(fd, "RECORD_ACKS")) {
    record('a', 0, parts, count);
    return offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  }
  if (!is_file(fd, "RECORD_FILE")) {
    return offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  }
  off_t at = offset < 0 ? lseek(fd, 0, SEEK_CUR) : offset;
  int synchronous = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
  record(synchronous ? 'd' : 'w', at, parts, count);
  ssize_t done = offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  if (synchronous) record('e', at, NULL, 0);
  return done;
}

ssize_t write(int fd, const void *data, size_t length) {
  struct iovec part = {(void *)data, length};
  return write_parts(fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  struct iovec part = {(void *)data, length};
  return write_parts(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return pwrite(fd, data, length, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_parts(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return write_parts(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return write_parts(fd, parts, count, offset); }

static int sync_file(int fd, long call) {
  int ours = is_file(fd, "RECORD_FILE");
  if (ours) record('s', 0, NULL, 0);
  int result = syscall(call, fd);
  if (ours && result == 0) record('S', 0, NULL, 0);
  return result;
}
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }
int fsync(int fd) { return sync_file(fd, SYS_fsync); }

int msync(void *address, size_t length, int flags) {
  record('m', 0, NULL, 0);
  return syscall(SYS_msync, address, length, flags);
}
int ftruncate(int fd, off_t length) {
  if (is_file(fd, "RECORD_FILE")) record('t', length, NULL, 0);
  return syscall(SYS_ftruncate, fd, length);
}
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }
