/**
 * Uses a worker thread to convert documents that are too large for the event loop: YAML to JSON, and JSON to YAML or
 * indented JSON. The thread converts one document at a time, so converting several documents takes no more memory than
 * converting one. The thread starts with the first document and ends after an idle period, which releases its memory.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../base/files/program-files.ts'
import { ApiError } from '../model/api-error.ts'
import type { Work, WorkReply, WorkRequest } from './document-worker-messages.ts'
import { type ParsedJson, parseOwnJson } from './json.ts'

const threadProgram = {
  importer: import.meta.url,
  source: './document-worker-thread.ts',
  bundled: 'document-worker-thread.cjs',
}

/**
 * Minimum size in bytes of a document that is converted in the worker thread. Converting a smaller document takes a few
 * milliseconds, which is less than transferring it to the thread would take.
 */
export const largeDocument = 32 * 1024
const idleMs = 5000
const maxHeapMb = 1024

interface Waiting {
  readonly resolve: (reply: Converted) => void
  readonly reject: (error: Error) => void
}

interface Converted {
  readonly bytes: Buffer
  readonly duplicates: readonly string[]
}

/** Converts large documents in a worker thread. */
export class DocumentWorker {
  #worker: Worker | undefined
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #idle: NodeJS.Timeout | undefined

  /** Parses YAML from a client. `limit` is the maximum size in bytes, including expanded aliases. */
  async readYaml(bytes: Buffer, limit: number): Promise<ParsedJson> {
    const { bytes: json, duplicates } = await this.#convert('read YAML', bytes, limit)
    return { value: parseOwnJson(json), duplicates }
  }

  /** Converts JSON that this server wrote to another format. */
  async write(work: Exclude<Work, 'read YAML'>, json: Buffer): Promise<Buffer> {
    return (await this.#convert(work, json, 0)).bytes
  }

  #convert(work: Work, bytes: Buffer, limit: number): Promise<Converted> {
    const id = ++this.#lastId
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker!.postMessage({ id, work, bytes, limit } satisfies WorkRequest)
    })
  }

  #start(): Worker {
    const worker = startThread(threadProgram, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    let cause: unknown
    worker.on('message', (reply: WorkReply) => this.#receive(reply))
    worker.on('error', (error: unknown) => {
      cause = error
    })
    worker.on('exit', () => this.#end(worker, cause))
    return worker
  }

  #receive(reply: WorkReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('bytes' in reply) {
      const { buffer, byteOffset, byteLength } = reply.bytes
      waiting?.resolve({ bytes: Buffer.from(buffer, byteOffset, byteLength), duplicates: reply.duplicates })
    } else if ('refused' in reply) {
      const { code, reason, message } = reply.refused
      waiting?.reject(new ApiError(code, reason, message))
    } else {
      waiting?.reject(new Error(reply.fault))
    }
    if (this.#waiting.size === 0) this.#rest()
  }

  /** Allows the process to exit while the worker thread is idle, and ends the thread after an idle period. */
  #rest(): void {
    const worker = this.#worker!
    worker.unref()
    this.#idle = setTimeout(() => {
      this.#worker = undefined
      void worker.terminate()
    }, idleMs).unref()
  }

  /** Handles the end of the worker thread. Pending conversions fail, and the next document starts a new thread. */
  #end(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const failed = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of failed) reject(new Error('the document conversion thread exited', { cause }))
  }
}
