/**
 * Files that serve as the output of containers, in the directory specified by `--simulation-logs`. Files outside this
 * directory cannot be read, because API objects must not grant access to files on the server's machine.
 */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { repeat, type TimerClock } from '../../../base/time/clock.ts'
import { ContainerLog } from '../../node-port/container-log.ts'
import { LogLineReader } from './log-line-reader.ts'

/** Number of bytes to read from the end of a file. */
const maxBytes = 256 * 1024
/** Maximum number of bytes to read at a time from a growing file. */
const maxGrowth = 64 * 1024
/** Interval in milliseconds between two reads of a growing file. */
const pollMs = 500
/** Maximum number of files that are followed at the same time. */
const maxFollowed = 100

/** Determines how long a log file is followed. */
export interface Following {
  /** Aborts when the reader disconnects. */
  readonly signal: AbortSignal
  /** Whether the container has terminated and its file will therefore no longer grow. */
  readonly isOver: () => boolean
}

/** Reads the log files in the directory that `--simulation-logs` specifies. Without the flag, no file can be read. */
export class LogFiles {
  readonly #directory: string | undefined
  readonly #clock: TimerClock
  #followed = 0

  constructor(directory: string | undefined, clock: TimerClock) {
    this.#directory = directory
    this.#clock = clock
  }

  /**
   * Returns the end of a file, followed by the optional note. If the file cannot be read, the log contains the reason.
   */
  read(file: string, note?: string): ContainerLog {
    const log = new ContainerLog()
    const output = new FileOutput(log, this.#clock)
    const error = this.#append(file, output)
    output.flush()
    for (const text of [error, note]) if (text !== undefined) log.append(this.#clock.now(), text)
    log.end()
    return log
  }

  /** Returns the end of a file, and appends lines that are written to the file later. */
  follow(file: string, { signal, isOver }: Following): ContainerLog {
    if (this.#followed >= maxFollowed)
      return this.read(file, `cannot follow ${file}: the server already follows ${maxFollowed} log files`)
    const log = new ContainerLog()
    const output = new FileOutput(log, this.#clock)
    let error: string | undefined
    const readMore = () => {
      const next = this.#append(file, output)
      if (next !== undefined && next !== error) log.append(this.#clock.now(), next)
      error = next
      if (signal.aborted || isOver()) stop()
    }
    this.#followed++
    const stopRepeating = repeat(this.#clock, pollMs, readMore)
    const stop = () => {
      if (log.isEnded) return
      stopRepeating()
      this.#followed--
      output.flush()
      log.end()
    }
    signal.addEventListener('abort', stop, { once: true })
    readMore()
    return log
  }

  /** Appends new content of a file to the output. Returns the reason if the file cannot be read. */
  #append(file: string, output: FileOutput): string | undefined {
    if (this.#directory === undefined) return `cannot read ${file}: the flag --simulation-logs names no directory`
    try {
      const parent = realpathSync(this.#directory)
      const path = realpathSync(resolve(parent, file))
      if (!path.startsWith(parent + sep)) return `cannot read ${file}: it is not in the directory of --simulation-logs`
      return output.readFrom(path)
    } catch (error) {
      return `cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? 'the path is invalid'}`
    }
  }
}

/** Copies a growing file to a log. Each read continues where the previous one ended. */
class FileOutput {
  readonly #lines: LogLineReader
  #decoder = new StringDecoder()
  #inode: number | undefined
  #position = 0

  constructor(log: ContainerLog, clock: TimerClock) {
    this.#lines = new LogLineReader(log, () => clock.now())
  }

  /** Copies new content. If the path is not a regular file, returns the reason. Opening a named pipe does not block. */
  readFrom(path: string): string | undefined {
    const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(handle)
      if (!stat.isFile()) return 'the log is not a regular file'
      const isFirst = this.#inode === undefined
      // Start over if the file is new, rotated or truncated.
      if (stat.ino !== this.#inode || stat.size < this.#position) this.#startAt(Math.max(0, stat.size - maxBytes))
      this.#inode = stat.ino
      const bytes = Buffer.alloc(Math.min(stat.size - this.#position, isFirst ? maxBytes : maxGrowth))
      const length = readSync(handle, bytes, 0, bytes.length, this.#position)
      const isPartialLine = isFirst && this.#position > 0
      this.#position += length
      const text = this.#decoder.write(bytes.subarray(0, length))
      this.#lines.write(isPartialLine ? text.slice(text.indexOf('\n') + 1) : text)
      return undefined
    } finally {
      closeSync(handle)
    }
  }

  /** Appends the last line, even if it does not end with a line break. */
  flush(): void {
    this.#lines.flush()
  }

  #startAt(position: number): void {
    this.#lines.flush()
    this.#decoder = new StringDecoder()
    this.#position = position
  }
}
