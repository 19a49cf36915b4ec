/** The time that this thread has worked, in microseconds, whatever else the machine did meanwhile. */
export function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
