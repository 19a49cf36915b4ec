/**
 * Records the disk writes of a program. Runs the program with the recorder preloaded, reads the recording, and builds
 * the disk images that a power loss at any moment could have left behind. An image contains every write before the last
 * completed sync and any subset of the later writes, in sectors of 512 bytes.
 */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { RandomSource } from '../storage/store/random-source.ts'
import { compiled } from '../support/compile-cache.ts'

const run = promisify(execFile)
const sector = 512

export interface DiskEvent {
  readonly kind: string
  readonly offset: number
  readonly data: Buffer
}

/** Libraries by source. Each library is compiled once for all tests of this process. */
const libraries = new Map<string, Promise<Buffer>>()

/** Compiles a library for preloading. */
export async function compilePreload(source: string, library: string): Promise<void> {
  const content = libraries.get(source) ?? compile(source, library)
  libraries.set(source, content)
  await writeFile(library, await content)
}

/** Requires a compiler. If none is installed, the test fails with a message that says what to install. */
async function compile(source: string, library: string): Promise<Buffer> {
  const path = fileURLToPath(new URL(source, import.meta.url))
  try {
    await run('gcc', ['-O1', '-shared', '-fPIC', '-o', library, path, '-ldl', '-lpthread'])
  } catch (cause) {
    throw new Error(`${source} could not be compiled: install the Debian packages gcc and libc6-dev`, { cause })
  }
  return await readFile(library)
}

export interface Recorded {
  readonly preload: string
  readonly log: string
  readonly file: string
  readonly acks: string
}

export async function recordProgram(script: string, args: readonly string[], recorded: Recorded): Promise<DiskEvent[]> {
  const env = {
    ...process.env,
    ...compiled,
    LD_PRELOAD: recorded.preload,
    RECORD_LOG: recorded.log,
    RECORD_FILE: recorded.file,
    RECORD_ACKS: recorded.acks,
  }
  await run(process.execPath, [script, ...args], { env, timeout: 300_000 })
  return readEvents(await readFile(recorded.log))
}

function readEvents(log: Buffer): DiskEvent[] {
  const events: DiskEvent[] = []
  for (let at = 0; at < log.length; ) {
    const length = Number(log.readBigUInt64LE(at + 9))
    const data = log.subarray(at + 17, at + 17 + length)
    events.push({ kind: String.fromCharCode(log[at]!), offset: Number(log.readBigUInt64LE(at + 1)), data })
    at += 17 + length
  }
  return events
}

/** Returns the content of the file if no write is lost. */
export function finalImage(events: readonly DiskEvent[]): Buffer {
  const image = new Image(events)
  for (const event of events) image.apply(event)
  return image.bytes()
}

/** Returns content that the file may have after a power loss just before the event `crash`. */
export function crashImage(events: readonly DiskEvent[], crash: number, random: RandomSource): Buffer {
  const image = new Image(events)
  const durable = durableUpTo(events, crash)
  // Some losses keep nearly all unsynced writes, and others keep nearly none.
  const kept = random.pick([0, 0.1, 0.5, 0.9, 1])
  for (let i = 0; i < crash; i++) {
    const event = events[i]!
    if (event.kind === 't') throw new Error('a file that is truncated is not modelled')
    if (i < durable || wasSynchronous(events, i, crash)) image.apply(event)
    else image.applyPart(event, () => random.chance(kept), random.chance(0.5))
  }
  return image.bytes()
}

/** Writes before this index were issued before a sync that has completed. */
function durableUpTo(events: readonly DiskEvent[], crash: number): number {
  const ended = events.findLastIndex((event, i) => i < crash && event.kind === 'S')
  return ended === -1 ? 0 : events.findLastIndex((event, i) => i < ended && event.kind === 's')
}

function wasSynchronous(events: readonly DiskEvent[], index: number, crash: number): boolean {
  if (events[index]!.kind !== 'd') return false
  const end = events.findIndex((event, i) => i > index && event.kind === 'e')
  return end !== -1 && end < crash
}

class Image {
  readonly #bytes: Buffer
  #size = 0

  constructor(events: readonly DiskEvent[]) {
    const writes = events.filter(isWrite)
    this.#bytes = Buffer.alloc(writes.reduce((size, { offset, data }) => Math.max(size, offset + data.length), 0))
  }

  apply(event: DiskEvent): void {
    if (isWrite(event)) this.#set(event.offset, event.data)
  }

  /** Applies some sectors of a write. A write that is not torn is applied completely or not at all. */
  applyPart(event: DiskEvent, keep: () => boolean, torn: boolean): void {
    if (!isWrite(event)) return
    if (!torn) {
      if (keep()) this.apply(event)
      return
    }
    const end = event.offset + event.data.length
    for (let at = event.offset; at < end; ) {
      const next = Math.min(end, (Math.floor(at / sector) + 1) * sector)
      if (keep()) this.#set(at, event.data.subarray(at - event.offset, next - event.offset))
      at = next
    }
  }

  #set(offset: number, data: Buffer): void {
    this.#bytes.set(data, offset)
    this.#size = Math.max(this.#size, offset + data.length)
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }
}

function isWrite({ kind }: DiskEvent): boolean {
  return kind === 'w' || kind === 'd'
}
