/** Where client configs lie: the files that are read when none is named. */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Json } from '../../api/json/json.ts'
import { codeOf } from '../../base/text/errors.ts'

/** Something is wrong with a client config, and its owner can fix it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** There is no client config at all: who needs no server can do without. */
export class MissingConfigError extends ConfigError {}

export interface Surroundings {
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly directory: string
}

/** What `orch up` writes, seen from where it was started. */
const localFile = '.orch/admin.kubeconfig'

/** The client config that a server in this directory has written; undefined when there is none. */
export function localConfig(directory: string): string | undefined {
  const file = join(directory, localFile)
  return existsSync(file) ? file : undefined
}

/** All that $ORCHCONFIG lists, or else $KUBECONFIG; else that of the user, if there is one; else that of a server in this directory. */
export function usualFiles({ env, home, directory }: Surroundings): string[] {
  const listed = (listedFiles(env) ?? '').split(delimiter).filter((file) => file !== '')
  if (listed.length > 0) return [...new Set(listed.map((file) => resolve(directory, file)))]
  const own = join(home, '.kube', 'config')
  return [existsSync(own) ? own : join(directory, localFile)]
}

/** The list of client configs that the environment names; undefined where it names none. */
export function listedFiles(env: Surroundings['env']): string | undefined {
  return env.ORCHCONFIG || env.KUBECONFIG || undefined
}

/** The text of a file; undefined where there is none. */
export function textIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError(`cannot read ${file}: ${code}`, { cause: error })
  }
}

/** The content of a client config, from its text. Throws ConfigError, which does not quote it: it may hold secrets. */
export type ConfigParser = (file: string, text: string) => Json
