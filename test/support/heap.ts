/** The heap of this process when all that nobody holds any more has been given back. */
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes in use, buffers outside of the heap included. */
export async function heapInUse(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What was held by a callback under way is free after it.
  for (let i = 0; i < 4; i++) {
    await setImmediate()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
