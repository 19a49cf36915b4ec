/**
 * A container's log as a client wants it: from a time or the last lines onward, with times, up to so many bytes, and
 * followed while the container runs. Chunks are bounded, however many lines there are.
 */
import type { ContainerLog, LogLine } from './container-log.ts'

export interface LogOptions {
  readonly follow: boolean
  readonly timestamps: boolean
  /** The last lines only; undefined for all. */
  readonly tailLines: number | undefined
  /** Nothing before this time, in milliseconds since 1970. */
  readonly since: number | undefined
  readonly limitBytes: number | undefined
}

const chunkBytes = 32 * 1024

/** The parts of the log, as they come. */
export async function* readLog(
  log: ContainerLog,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY
  let next = startOf(log, options)
  while (left > 0 && !signal.aborted) {
    const { text, end } = nextChunk(log, next, options)
    const bytes = Buffer.from(text).subarray(0, left)
    left -= bytes.length
    if (bytes.length > 0) yield bytes
    const isRead = end >= log.range.end
    next = end
    if (!isRead) continue
    if (!options.follow || log.isEnded) return
    await log.changed(next, signal)
  }
}

/** The number of the first line to read. */
function startOf(log: ContainerLog, { tailLines, since }: LogOptions): number {
  const { first, end } = log.range
  const tail = tailLines === undefined ? first : Math.max(first, end - tailLines)
  if (since === undefined) return tail
  let low = tail
  let high = end
  // Times only rise, so the place is found by halving.
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (log.line(middle)!.time < since) low = middle + 1
    else high = middle
  }
  return low
}

/** As many lines as make a chunk; `end` is the number of the line after them. */
function nextChunk(log: ContainerLog, from: number, options: LogOptions): { text: string; end: number } {
  const { first, end } = log.range
  let text = ''
  let at = Math.max(from, first)
  while (at < end && text.length < chunkBytes) text += textOf(log.line(at++)!, options)
  return { text, end: at }
}

function textOf({ time, text }: LogLine, { timestamps }: LogOptions): string {
  return timestamps ? `${new Date(time).toISOString().replace('Z', '000000Z')} ${text}\n` : `${text}\n`
}
