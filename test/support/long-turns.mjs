/**
 * Loaded into a server (`--import`). Reports turns of its main thread that take more than 50 ms of CPU time, which
 * excludes other programs. Once the file `ORCH_COLLECT_FILE` exists, each thread collects its garbage every five
 * seconds (`--expose-gc`), so that a test can measure the retained memory.
 */
import { existsSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const maxMs = 50
const lookMs = 2
const collectMs = 5_000
const { ORCH_SENTINEL, ORCH_COLLECT_FILE } = process.env

const spentMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

if (isMainThread && ORCH_SENTINEL === 'server') {
  let before = spentMs()
  // Timers run once per turn, so exactly one turn lies between two of them.
  setInterval(() => {
    const now = spentMs()
    if (now - before > maxMs) process.stderr.write(`long turn: ${Math.round(now - before)} ms\n`)
    before = now
  }, lookMs).unref()
}

if (ORCH_COLLECT_FILE !== undefined)
  setInterval(() => {
    if (existsSync(ORCH_COLLECT_FILE)) globalThis.gc?.()
  }, collectMs).unref()
