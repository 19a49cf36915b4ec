/**
 * What the tests need beyond npm, installed from Debian's packages where that is possible. Where it is not, the run
 * stops with the names of what is missing: no test is skipped.
 */
import { spawnSync } from 'node:child_process'

const packages: { readonly [command: string]: string } = {
  etcd: 'etcd-server',
  kubectl: 'kubernetes-client',
  openssl: 'openssl',
  gcc: 'gcc libc6-dev',
}

export function installTools(): void {
  const missing = Object.keys(packages).filter((command) => !isInstalled(command))
  if (missing.length === 0) return
  const names = missing.flatMap((command) => packages[command]!.split(' '))
  console.log(`installing ${names.join(' ')}`)
  if (process.getuid?.() === 0 && isInstalled('apt-get')) {
    apt('update')
    apt('install', '-y', '--no-install-recommends', ...names)
  }
  const still = missing.filter((command) => !isInstalled(command))
  if (still.length === 0) return
  console.error(
    `The tests need ${still.join(', ')}. On Debian: apt-get install ${still.map((command) => packages[command]).join(' ')}`,
  )
  console.log(`0 passed, ${still.length} failed`)
  process.exit(1)
}

function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

function apt(...args: string[]): void {
  const { status, stderr } = spawnSync('apt-get', args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  })
  if (status !== 0) console.error(stderr)
}
