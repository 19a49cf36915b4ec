/**
 * Reads the resource usage of a process from /proc (Linux): CPU time of all threads and of the main thread, and memory.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

export interface Cpu {
  /** CPU time of all threads in seconds. */
  readonly total: number
  /**
   * CPU time of the event-loop thread in seconds. The event loop is saturated if it uses one second of CPU time per
   * second.
   */
  readonly main: number
}

const ticksPerSecond = 100

export function cpuOf(pid: number): Cpu {
  const [user, system] = statTimes(`/proc/${pid}/stat`)
  const [mainUser, mainSystem] = statTimes(`/proc/${pid}/task/${pid}/stat`)
  return { total: user! + system!, main: mainUser! + mainSystem! }
}

/** Name of a thread, and its CPU time in seconds. */
export interface ThreadCpu {
  readonly name: string
  readonly seconds: number
}

/** Returns the CPU time of each living thread by its ID. */
export function cpuOfThreads(pid: number): Map<string, ThreadCpu> {
  const folder = `/proc/${pid}/task`
  return new Map(
    readdirSync(folder).flatMap((id): [string, ThreadCpu][] => {
      try {
        const [user, system] = statTimes(`${folder}/${id}/stat`)
        return [[id, { name: readFileSync(`${folder}/${id}/comm`, 'utf8').trim(), seconds: user! + system! }]]
      } catch {
        // Ignore a thread that has ended in the meantime.
        return []
      }
    }),
  )
}

/** Returns the CPU time, in seconds, of this process and its exited children. */
export function cpuOfGenerators(): number {
  return statTimes('/proc/self/stat').reduce((sum, time) => sum + time, 0)
}

/** Returns the CPU time, in seconds, that the whole machine has used since it started. */
export function cpuOfMachine(): number {
  const line = readFileSync('/proc/stat', 'utf8').split('\n')[0]!
  const [user, nice, system, , , irq, softirq, steal] = line.trim().split(/\s+/).slice(1).map(Number)
  return (user! + nice! + system! + irq! + softirq! + steal!) / ticksPerSecond
}

/** Returns utime, stime, cutime and cstime in seconds. The command name, which precedes them, may contain blanks. */
function statTimes(file: string): number[] {
  const text = readFileSync(file, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).map((ticks) => Number(ticks) / ticksPerSecond)
}

export interface Memory {
  /** Resident, private and peak memory in bytes. The peak is measured since `resetPeak`. */
  readonly resident: number
  readonly own: number
  readonly peak: number
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
  return { resident: bytes('VmRSS'), own: bytes('RssAnon'), peak: bytes('VmHWM') }
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
