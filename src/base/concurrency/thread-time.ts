/** Returns the CPU time of the current thread in microseconds. Other load on the machine does not affect the value. */
export function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
