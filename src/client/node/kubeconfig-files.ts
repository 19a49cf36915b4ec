/** Default locations of kubeconfigs. */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import type { Json } from '../../api/json/json.ts'
import { codeOf } from '../../base/text/errors.ts'

/** An error in a kubeconfig that its owner can fix. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Thrown if there is no kubeconfig. Commands that need no server can ignore this error. */
export class MissingConfigError extends ConfigError {}

export interface ProcessEnvironment {
  readonly env: { readonly [name: string]: string | undefined }
  readonly home: string
  readonly directory: string
}

/** Returns the environment of this process. */
export function processEnvironment(): ProcessEnvironment {
  return { env: process.env, home: homeDirectory(), directory: process.cwd() }
}

/** Returns the user's home directory, or the root directory if the user has none, as in many containers. */
export function homeDirectory(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

/** File that `orch up` writes, relative to its working directory. */
const localFile = '.orch/admin.kubeconfig'

/** Returns the path of the kubeconfig that `orch up` wrote below a directory, or undefined if there is none. */
export function localConfig(directory: string): string | undefined {
  const file = join(directory, localFile)
  return existsSync(file) ? file : undefined
}

/**
 * Returns the kubeconfigs to use. The first source that exists is used: the files in $ORCHCONFIG, the files in
 * $KUBECONFIG, `~/.kube/config`, or the kubeconfig that `orch up` writes below its working directory.
 */
export function usualFiles({ env, home, directory }: ProcessEnvironment): string[] {
  const configuredFiles = (listedFiles(env) ?? '').split(delimiter).filter((file) => file !== '')
  if (configuredFiles.length > 0) return [...new Set(configuredFiles.map((file) => resolve(directory, file)))]
  const own = join(home, '.kube', 'config')
  return [existsSync(own) ? own : join(directory, localFile)]
}

/** Returns the list of kubeconfigs in an environment variable, or undefined if the variable is not set. */
export function listedFiles(env: ProcessEnvironment['env']): string | undefined {
  return env.ORCHCONFIG || env.KUBECONFIG || undefined
}

/** Returns the content of a file, or undefined if the file does not exist. */
export function textIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError(`cannot read ${file}: ${code}`, { cause: error })
  }
}

/** Parses a kubeconfig. Throws ConfigError. The error does not quote the file, which may contain secrets. */
export type ConfigParser = (file: string, text: string) => Json
