/**
 * Reads a stream with events, which for small bodies is much cheaper than an iterator.
 *
 * A stream may have ended or been destroyed before its reader attaches: Node ends the readable side of an HTTP/2 stream
 * as soon as an empty frame ends it, and emits each event only once. The reader is notified anyway.
 */
import type { Readable } from 'node:stream'

export interface StreamReader {
  readonly onData: (chunk: Buffer) => void
  readonly onEnd: () => void
  /** Called if the stream fails or closes, also when it closes after its end. */
  readonly onBreak: () => void
}

/** Reports data, the end and a premature close of a stream. */
export function readStream(stream: Readable, { onData, onEnd, onBreak }: StreamReader): void {
  if (stream.readableEnded) onEnd()
  else if (stream.destroyed) onBreak()
  else stream.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
}
