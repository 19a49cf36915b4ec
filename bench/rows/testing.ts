/**
 * Measures `orch/testing` in a warm process: the time from the start of a server to its first write, and the times for
 * a reset, for twenty servers at once, and for a suite of 100 tests.
 */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { atMost, type Row, short } from '../table.ts'

const root = dirname(dirname(import.meta.dirname))

export const testingRows = {
  name: 'testing',
  async run(): Promise<Row[]> {
    const figures = measure()
    const row = (name: string, ours: string, rest: Partial<Row>): Row => ({ name, ours, bare: '', figures, ...rest })
    const ms = (value: number | undefined) => `${short(value ?? Number.NaN)} ms`
    return [
      row('test server: start to first write', ms(figures.startMs), {
        ...atMost(100, figures.startMs!, 'ms'),
        note: `${ms(figures.startCpuMs)} of processor time; the first of a process ${ms(figures.coldMs)}`,
      }),
      row('test server: reset of 20 objects', ms(figures.resetMs), {
        ...atMost(10, figures.resetMs!, 'ms'),
        note: `the slowest of 30: ${ms(figures.slowestResetMs)}`,
      }),
      row('test server: each of 20 in a process', `${short(figures.eachMb!)} MB`, {
        note: `${short(figures.leftMb!)} MB stay of all when they are closed`,
      }),
      row('test server: 100 controller tests', ms(figures.suiteMs), {
        note: `${ms(figures.suiteCpuMs)} of processor time; one server, reset before each`,
      }),
    ]
  },
}

/** Runs in a separate process, because this process has loaded modules that users' processes would not have loaded. */
function measure(): { readonly [name: string]: number } {
  const program = join(root, 'bench/testing-program.mjs')
  const { status, stdout, stderr } = spawnSync(join(root, 'bin/node'), ['--expose-gc', program], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`bench/testing-program.mjs failed: ${stderr}`)
  return JSON.parse(stdout)
}
