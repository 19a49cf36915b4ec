/** Returns the CPU time of this thread in microseconds, regardless of other load on the machine. */
export function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
