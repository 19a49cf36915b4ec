/**
 * The thread that checks all pages of the data file while the server runs (`page-check.ts`). The thread sends one
 * message, which describes the damage or is undefined if there is none. The thread does not use lmdb.
 */
import { closeSync, openSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PageCheck } from './page-check.ts'
import type { Meta } from './page-file.ts'
import { Damage } from './page-records.ts'

/** The data that is passed to the checking thread: the file, and the pages of one state of the file. */
export interface CheckedState {
  readonly path: string
  readonly meta: Meta
  /** The check state of each page (see `pageFacts`), by page number. */
  readonly facts: Uint8Array<SharedArrayBuffer>
}

export interface CheckResult {
  /** A description of the damage. Undefined if the file is intact. */
  readonly damage: string | undefined
}

const { path, meta, facts } = workerData as CheckedState

function check(): CheckResult {
  const descriptor = openSync(path, 'r')
  try {
    new PageCheck(descriptor, meta, facts).run()
    return { damage: undefined }
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    return { damage: error.message }
  } finally {
    closeSync(descriptor)
  }
}

parentPort!.postMessage(check())
