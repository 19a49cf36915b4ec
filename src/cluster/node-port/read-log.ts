/**
 * Reads a container's log with the options that a client specified: start time, number of lines from the end,
 * timestamps, byte limit and whether to follow the log. The size of each chunk is limited, regardless of the number of
 * lines.
 */
import type { ContainerLog, LogLine } from './container-log.ts'

export interface LogOptions {
  readonly follow: boolean
  readonly timestamps: boolean
  /** Number of lines to return, counted from the end. Undefined means all lines. */
  readonly tailLines: number | undefined
  /** Earliest time of lines to return, in milliseconds since 1970. */
  readonly since: number | undefined
  readonly limitBytes: number | undefined
}

const chunkBytes = 32 * 1024

/** Yields the log in chunks as lines become available. */
export async function* readLog(
  log: ContainerLog,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  let remainingBytes = options.limitBytes ?? Number.POSITIVE_INFINITY
  let next = startOf(log, options)
  while (remainingBytes > 0 && !signal.aborted) {
    const { text, end } = nextChunk(log, next, options)
    const bytes = Buffer.from(text).subarray(0, remainingBytes)
    remainingBytes -= bytes.length
    if (bytes.length > 0) yield bytes
    const isRead = end >= log.range.end
    next = end
    if (!isRead) continue
    if (!options.follow || log.isEnded) return
    await log.changed(next, signal)
  }
}

/** Returns the number of the first line that the options select. */
function startOf(log: ContainerLog, { tailLines, since }: LogOptions): number {
  const { first, end } = log.range
  const tail = tailLines === undefined ? first : Math.max(first, end - tailLines)
  if (since === undefined) return tail
  let low = tail
  let high = end
  // Times never decrease, so a binary search can find the first line to read.
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (log.line(middle)!.time < since) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns log lines up to the chunk size. `end` is the number of the line after the last returned line. */
function nextChunk(log: ContainerLog, from: number, options: LogOptions): { text: string; end: number } {
  const { first, end } = log.range
  let text = ''
  let at = Math.max(from, first)
  while (at < end && text.length < chunkBytes) text += logLineText(log.line(at++)!, options)
  return { text, end: at }
}

function logLineText({ time, text }: LogLine, { timestamps }: LogOptions): string {
  return timestamps ? `${new Date(time).toISOString().replace('Z', '000000Z')} ${text}\n` : `${text}\n`
}
