/**
 * The files of one kustomization: those in its directory and below it, and no others, whatever names and links say. Another
 * directory may be named as a base; it has files of its own. Nothing is loaded from the network.
 */
import { realpathSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { Json } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { codeOf } from '../../../base/text/errors.ts'
import { parseSource } from '../manifests/parse-source.ts'

const maxBytes = 64 * 1024 * 1024

export class RootFiles {
  /** As the user knows the directory. */
  readonly name: string
  /** Its true place. */
  readonly root: string

  constructor(path: string, name: string) {
    this.name = name
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`${JSON.stringify(name)} is not a directory`)
    this.root = realpathSync(path)
  }

  has(file: string): boolean {
    return statSync(join(this.root, file), { throwIfNoEntry: false })?.isFile() === true
  }

  /** Whether it names a directory, which may be outside. Throws UsageError for what is not on this machine. */
  isDirectory(path: string): boolean {
    refuseRemote(path)
    return statSync(resolve(this.root, path), { throwIfNoEntry: false })?.isDirectory() === true
  }

  nameOf(file: string): string {
    return join(this.name, file)
  }

  /** Throws UsageError for what is not there, outside, or no file. */
  async read(file: string): Promise<Buffer> {
    refuseRemote(file)
    const path = resolve(this.root, file)
    try {
      const real = realpathSync(path)
      if (!real.startsWith(this.root + sep) && this.root !== sep)
        throw new UsageError(
          `${this.nameOf(file)} is not in ${this.name} or below it: only a directory may be elsewhere, as a base`,
        )
      const { size } = statSync(real)
      if (size > maxBytes) throw new UsageError(`${this.nameOf(file)} is longer than ${maxBytes} bytes`)
      return await readFile(real)
    } catch (error) {
      if (error instanceof UsageError) throw error
      throw new UsageError(`cannot read ${this.nameOf(file)}: ${codeOf(error)}`)
    }
  }

  /** What stands in a file of YAML or JSON. */
  async documents(file: string): Promise<Json[]> {
    const text = (await this.read(file)).toString('utf8')
    return await parseSource({ name: this.nameOf(file), text })
  }

  /** Another directory, seen from this one. */
  directory(path: string): RootFiles {
    return new RootFiles(resolve(this.root, path), join(this.name, path))
  }
}

const remote = /^(?:[a-z][a-z\d+.-]*:\/\/|git@|git::|github\.com[/:]|[^/]+@[^/]+:)|\?ref=|\.git(?:$|\?|\/\/)/i

function refuseRemote(path: string): void {
  if (remote.test(path)) throw new UsageError(`${path} is not loaded: kustomizations are built without the network`)
}
