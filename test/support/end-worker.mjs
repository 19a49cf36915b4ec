/**
 * Imported into a server with several workers (`NODE_OPTIONS=--import=...`). On SIGWINCH, ends the workers named in the
 * file ORCH_END_WORKER, in the given way: `1 exit`, `0 stall`, `2 memory`, `0 terminate,1 terminate`, or `1 start`,
 * with which the replacement hangs during its start. `hub` ends the thread of the store, and `nodes memory` the thread
 * of the simulated nodes.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isMainThread, parentPort, threadName } from 'node:worker_threads'

const ways = {
  exit: () => process.exit(7),
  // Hangs without using the CPU.
  stall: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  loop: () => {
    for (;;);
  },
  memory: () => {
    const held = []
    for (;;) held.push(new Array(100_000).fill(held.length))
  },
  error: () => {
    throw new Error('a fault that a test put here')
  },
}

/** Threads that a test can end: `worker 0`, `simulated nodes`. */
function isNamed(name) {
  return /^worker \d|^simulated nodes$/.test(name)
}

/** Whether the file specifies that this worker must hang during its start. The next worker then does not. */
function isToStandStill() {
  const file = process.env.ORCH_END_WORKER
  const order = `${threadName.split(' ')[1]} start`
  const isMeant = existsSync(file) && readFileSync(file, 'utf8') === order
  if (isMeant) writeFileSync(file, '')
  return isMeant
}

if (isMainThread) {
  const workers = new Map()
  let hub
  process.on('worker', (worker) => {
    hub ??= worker
    if (isNamed(worker.threadName ?? '')) workers.set(worker.threadName.split(' ')[1], worker)
  })
  process.on('SIGWINCH', () => {
    for (const order of readFileSync(process.env.ORCH_END_WORKER, 'utf8').trim().split(',')) {
      const [which, way] = order.split(' ')
      if (which === 'hub') void hub.terminate()
      else if (way === 'terminate' || way === 'start') void workers.get(which).terminate()
      else workers.get(which).postMessage({ type: 'fault', way })
    }
  })
} else if (isNamed(threadName)) {
  parentPort.on('message', ({ type, way }) => {
    if (type === 'fault') setImmediate(ways[way])
    if (type === 'start' && isToStandStill()) ways.stall()
  })
}
