/**
 * Reads a stream by events, which cost far less than an iterator for the small bodies that most are.
 *
 * A stream may have ended, or been destroyed, before its reader comes: Node ends the readable side of an HTTP/2 stream
 * as soon as a frame without data ends it, and an event is emitted only once. The reader is told nevertheless.
 */
import type { Readable } from 'node:stream'

export interface StreamReader {
  readonly onData: (chunk: Buffer) => void
  readonly onEnd: () => void
  /** The stream failed or was closed; also called when it closes after its end. */
  readonly onBreak: () => void
}

/** Tells a reader of a stream what comes, its end, and that it broke off. */
export function readStream(stream: Readable, { onData, onEnd, onBreak }: StreamReader): void {
  if (stream.readableEnded) onEnd()
  else if (stream.destroyed) onBreak()
  else stream.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
}
