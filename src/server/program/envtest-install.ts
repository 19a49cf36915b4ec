/**
 * `orch envtest install`: writes a directory with the programs that envtest starts, for one Kubernetes version. These
 * programs call the programs of this package, so the directory is small and still works after the package has been
 * updated.
 */

import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type EmulatedVersion, newestVersion, releaseOf } from '../../api/versions/emulated-version.ts'
import { makeDirectory, replaceFile } from '../../base/files/files.ts'
import { type Flags, flag, parseFlags, text, UsageError } from '../../base/flags/flags.ts'
import { homeDirectory } from '../../client/node/kubeconfig-files.ts'
import { readEmulatedVersion } from '../flags/emulated-version.ts'

export const installFlags = {
  version: flag({
    name: 'version',
    value: 'VERSION',
    default: newestVersion,
    read: readEmulatedVersion,
    help: 'Kubernetes version that the installed kube-apiserver emulates, such as 1.31; the environment variable ORCH_EMULATED_VERSION overrides it',
  }),
  dir: flag({
    name: 'dir',
    value: 'DIR',
    read: text,
    help: 'installation directory; defaults to a directory in ~/.local/share/orch/envtest named after the version',
  }),
} satisfies Flags

/**
 * Writes the directory and returns its path, for use in KUBEBUILDER_ASSETS. `launcher` is the script that runs this
 * program.
 */
export async function installEnvtest(args: readonly string[], launcher: string): Promise<string> {
  const { version, dir } = parseFlags(installFlags, args)
  const programs = join(dirname(realpathSync(launcher)), 'envtest')
  if (!existsSync(join(programs, 'kube-apiserver')))
    throw new UsageError(`cannot install: the programs of this package are not in ${programs}`)
  const directory = dir === '' ? defaultDirectory(version) : resolve(dir)
  await makeDirectory(directory)
  await writeProgram(join(directory, 'etcd'), [join(programs, 'etcd')])
  await writeProgram(join(directory, 'kube-apiserver'), [
    join(programs, 'kube-apiserver'),
    `--emulated-version=${version}`,
  ])
  return directory
}

/** Returns the directory for a version. The directory has the same name as in setup-envtest. */
function defaultDirectory(version: EmulatedVersion): string {
  const { major, minor, patch } = releaseOf(version)
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `${major}.${minor}.${patch}-${process.platform}-${architecture}`
  return join(homeDirectory(), '.local/share/orch/envtest', name)
}

async function writeProgram(file: string, command: readonly string[]): Promise<void> {
  await replaceFile(file, `#!/bin/sh\nexec ${command.map(quoted).join(' ')} "$@"\n`, 0o755)
}

/** Quotes a word for the shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
