/**
 * Compares `orch/client` with `@kubernetes/client-node`: a typed list of 10,000 objects from the same server. Each
 * client runs in a separate process, and the clients alternate. The other client is installed for the run, so the row
 * needs access to the npm registry. If the registry is unreachable, the row reports that it was skipped.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Bench, type Side, token } from '../servers.ts'
import { atLeast, quantile, type Row, short } from '../table.ts'

const root = dirname(dirname(import.meta.dirname))
const other = '@kubernetes/client-node@2.0.1'
const rounds = 5

/**
 * Time and CPU time per list in milliseconds. `firstMs` is the time of the first list in a process. The other values
 * are for later lists.
 */
interface Lists {
  readonly ms: number
  readonly cpuMs: number
  readonly firstMs: number
}

export const clientRows = {
  name: 'client',
  async run(bench: Bench): Promise<Row[]> {
    const folder = bench.newDirectory()
    const isThere = install(folder)
    const server = await bench.startOrch(await bench.filled(10_000))
    const taken = { ours: [] as Lists[], theirs: [] as Lists[] }
    for (let i = 0; i < rounds; i++) {
      taken.ours.push(list('orch', server, folder))
      if (isThere) taken.theirs.push(list('client-node', server, folder))
    }
    await server.stop()
    return [rowOf(median(taken.ours), isThere ? median(taken.theirs) : undefined)]
  },
}

function rowOf(ours: Lists, theirs: Lists | undefined): Row {
  const name = 'client: typed list of 10,000'
  const text = ({ ms, cpuMs }: Lists) => `${short(ms)} ms, ${short(cpuMs)} ms of processor time`
  const figures = { oursMs: ours.ms, oursCpuMs: ours.cpuMs, oursFirstMs: ours.firstMs }
  if (theirs === undefined) return { name, ours: text(ours), bare: '', note: `${other} cannot be installed`, figures }
  return {
    name,
    ours: text(ours),
    bare: text(theirs),
    ...atLeast(1, theirs.ms / ours.ms),
    byCpu: theirs.cpuMs / ours.cpuMs,
    note: `bare: ${other}; first list of a process ${short(ours.firstMs)} and ${short(theirs.firstMs)} ms`,
    figures: { ...figures, theirMs: theirs.ms, theirCpuMs: theirs.cpuMs, theirFirstMs: theirs.firstMs },
  }
}

function install(folder: string): boolean {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', other]
  return spawnSync('npm', args, { cwd: folder, stdio: 'ignore' }).status === 0
}

function list(client: 'orch' | 'client-node', { origin }: Side, folder: string): Lists {
  const program = join(root, 'bench/list-program.mjs')
  const { status, stdout, stderr } = spawnSync(join(root, 'bin/node'), [program, client, origin, folder], {
    encoding: 'utf8',
    env: { ...process.env, BENCH_TOKEN: token },
  })
  if (status !== 0) throw new Error(`bench/list-program.mjs failed: ${stderr}`)
  return JSON.parse(stdout)
}

function median(lists: readonly Lists[]): Lists {
  const half = (field: keyof Lists) =>
    quantile(
      lists.map((one) => one[field]),
      0.5,
    )
  return { ms: half('ms'), cpuMs: half('cpuMs'), firstMs: half('firstMs') }
}
