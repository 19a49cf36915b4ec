/**
 * Opens a data file before all of its pages have been checked. Another thread checks the pages while the store is in
 * use (`page-check-thread.ts`). Until the check is complete, pages are verified before they are read (`page-guard.ts`).
 * An open read transaction prevents lmdb from overwriting pages of the state that the file had when it was opened.
 */
import { closeSync, openSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../../base/files/program-files.ts'
import type { Guarding } from './guarded-table.ts'
import { reportDamage } from './page-check.ts'
import type { CheckedState, CheckResult } from './page-check-thread.ts'
import { PageGuard } from './page-guard.ts'
import { Damage } from './page-records.ts'
import type { OpenGuarding, Tables } from './tables.ts'

/** The entry point of the thread that checks the pages. */
const threadProgram = {
  importer: import.meta.url,
  source: './page-check-thread.ts',
  bundled: 'page-check-thread.cjs',
}

/** A read transaction that stays open, so that lmdb does not overwrite the pages that this transaction can read. */
interface ReadTransaction {
  done(): void
}

export class BackgroundCheck implements OpenGuarding, Guarding {
  guard: PageGuard | undefined
  readonly #path: string
  readonly #delayMs: number
  readonly #descriptor: number
  #worker: Worker | undefined
  #pin: ReadTransaction | undefined

  /** Verifies the pages that lmdb reads when it opens the file. Throws StoreError if they are damaged. */
  constructor(path: string, delayMs: number) {
    this.#path = path
    this.#delayMs = delayMs
    this.#descriptor = openSync(path, 'r')
    try {
      this.guard = reportDamage(path, () => new PageGuard(this.#descriptor))
    } catch (error) {
      closeSync(this.#descriptor)
      throw error
    }
  }

  /**
   * The last transaction in the file when the file was opened. lmdb cannot reuse pages that have been freed since then.
   * Undefined after the check is complete.
   */
  get pinned(): number | undefined {
    return this.guard?.meta.transaction
  }

  onOpen(root: Tables['root']): void {
    this.#pin = root.useReadTransaction() as ReadTransaction
    root.resetReadTxn()
  }

  /**
   * Converts an error about a damaged page to an error whose message recommends a remedy. Returns other errors
   * unchanged.
   */
  explain(error: unknown): unknown {
    if (!(error instanceof Damage)) return error
    try {
      return reportDamage(this.#path, () => {
        throw error
      })
    } catch (explained) {
      return explained
    }
  }

  /** Starts the thread after a delay. `onDone` is called once, with an error if the file is damaged. */
  start(onDone: (damage: unknown) => void): void {
    setTimeout(() => this.#startThread(onDone), this.#delayMs).unref()
  }

  #startThread(onDone: (damage: unknown) => void): void {
    if (this.guard === undefined) return
    const { meta, facts } = this.guard
    const state: CheckedState = { path: this.#path, meta, facts }
    const worker = startThread(threadProgram, { workerData: state, execArgv: [] })
    this.#worker = worker
    worker.unref()
    worker.once('message', ({ damage }: CheckResult) => {
      if (damage === undefined) this.stop()
      onDone(damage === undefined ? undefined : this.explain(new Damage(damage)))
    })
    worker.once('error', onDone)
  }

  /** Ends the check and closes the read transaction. */
  stop(): void {
    if (this.guard === undefined) return
    this.guard = undefined
    this.#pin?.done()
    closeSync(this.#descriptor)
    // The thread may have ended already, in which case `terminate` does nothing.
    void this.#worker?.terminate()
  }
}
