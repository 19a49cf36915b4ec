/**
 * Compares orchctl with kubectl on the same server in the same run: the run time and the CPU time of each program.
 * orchctl should not be slower than kubectl.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type Bench, token } from '../servers.ts'
import { atLeast, quantile, type Row, short } from '../table.ts'

const root = dirname(dirname(import.meta.dirname))
const objects = 5_000
const applied = 200

export const orchctlRows = {
  name: 'orchctl',
  async run(bench: Bench): Promise<Row[]> {
    const directory = bench.newDirectory()
    const server = await bench.startOrch(directory, ['--profile=kubernetes'])
    const config = join(directory, 'kubeconfig')
    writeFileSync(config, clientConfig(server.origin, join(directory, 'data/pki/ca.crt')))
    const run = runner(config, join(directory, 'cache'))
    const many = join(directory, 'many.yaml')
    const few = join(directory, 'few.yaml')
    writeFileSync(many, manifests('many', objects))
    writeFileSync(few, manifests('few', applied))
    run('orchctl', ['create', '-f', many])
    const rows = [
      compare('version', run, { args: ['version'], times: 9 }),
      compare(`get configmaps, ${short(objects)} objects`, run, { args: ['get', 'configmaps'], times: 3 }),
      compare(`apply -f, ${applied} objects, new`, run, {
        args: ['apply', '-f', few],
        before: ['delete', '-f', few, '--ignore-not-found'],
        times: 3,
      }),
      compare(`apply -f, ${applied} objects, unchanged`, run, { args: ['apply', '-f', few], times: 3 }),
    ]
    await server.stop()
    return rows
  },
}

function clientConfig(server: string, authority: string): string {
  return JSON.stringify({
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
}

function manifests(prefix: string, count: number): string {
  const one = (i: number) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${prefix}-${i}\ndata:\n  number: "${i}"\n`
  return Array.from({ length: count }, (_, i) => one(i)).join('---\n')
}

type Program = 'orchctl' | 'kubectl'

interface Spent {
  readonly seconds: number
  readonly cpu: number
}

type Run = (program: Program, args: readonly string[]) => Spent

function runner(config: string, cache: string): Run {
  // Directory of Debian's kubectl, if it has been unpacked in this repository. The tests use the same kubectl.
  const tools = join(root, '.tools/usr/bin')
  const path = [...(existsSync(tools) ? [tools] : []), process.env.PATH].join(delimiter)
  const programs = { orchctl: join(root, 'bin/orchctl'), kubectl: 'kubectl' }
  return (program, args) => {
    const own = program === 'kubectl' ? [`--cache-dir=${cache}`] : []
    const began = performance.now()
    const cpu = childrenCpu()
    const ran = spawnSync(programs[program], [...own, ...args], {
      env: { ...process.env, PATH: path, KUBECONFIG: config },
      maxBuffer: 1 << 28,
    })
    if (ran.error || ran.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${ran.error ?? ran.stderr}`)
    return { seconds: (performance.now() - began) / 1000, cpu: childrenCpu() - cpu }
  }
}

const ticksPerSecond = 100

/** Returns the CPU time of all exited child processes in seconds. */
function childrenCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}

interface Comparison {
  readonly args: readonly string[]
  /** Command that orchctl runs before each measurement. Its run time is not measured. */
  readonly before?: readonly string[]
  readonly times: number
}

/** Compares both programs, which alternate so that other load on the machine affects both. */
function compare(name: string, run: Run, { args, before, times }: Comparison): Row {
  const spent: { readonly [P in Program]: Spent[] } = { orchctl: [], kubectl: [] }
  for (let i = 0; i < times; i++)
    for (const program of ['orchctl', 'kubectl'] as const) {
      if (before !== undefined) run('orchctl', before)
      spent[program].push(run(program, args))
    }
  const middle = (program: Program, what: keyof Spent) =>
    quantile(
      spent[program].map((each) => each[what]),
      0.5,
    )
  const figures = {
    ours: middle('orchctl', 'seconds'),
    theirs: middle('kubectl', 'seconds'),
    cpu: middle('orchctl', 'cpu'),
    theirCpu: middle('kubectl', 'cpu'),
  }
  return {
    name: `orchctl ${name}`,
    ours: `${short(figures.ours)} s`,
    bare: `${short(figures.theirs)} s`,
    ...atLeast(1, figures.theirs / figures.ours),
    byCpu: figures.theirCpu / figures.cpu,
    cpu: `${short(figures.cpu * 1000)} ms / ${short(figures.theirCpu * 1000)} ms`,
    note: 'bare: kubectl',
    figures,
  }
}
