/**
 * Reads a stream through its events, which is much cheaper than an iterator for small bodies.
 *
 * A stream may have ended or been destroyed before its reader attaches: Node ends the readable side of an HTTP/2 stream
 * as soon as an empty frame ends it, and emits each event only once. This module reports the end to late readers as
 * well.
 */
import type { Readable } from 'node:stream'

export interface StreamReader {
  readonly onData: (chunk: Buffer) => void
  readonly onEnd: () => void
  /** Called if the stream fails or closes, even if it closes after its end. */
  readonly onBreak: () => void
}

/** Reports the data, the end and a premature close of a stream. */
export function readStream(stream: Readable, { onData, onEnd, onBreak }: StreamReader): void {
  if (stream.readableEnded) onEnd()
  else if (stream.destroyed) onBreak()
  else stream.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
}
