/**
 * Reads the files of one kustomization. Rejects files outside its directory, even if a name or link points to them. A
 * base is another directory with its own files. Nothing is loaded from the network.
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
  /** Path of the directory as the user specified it, for messages. */
  readonly name: string
  /** Absolute path of the directory, with links resolved. */
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

  /** Whether the path is a directory, possibly outside the root. Throws UsageError for a remote resource. */
  isDirectory(path: string): boolean {
    refuseRemote(path)
    return statSync(resolve(this.root, path), { throwIfNoEntry: false })?.isDirectory() === true
  }

  nameOf(file: string): string {
    return join(this.name, file)
  }

  /** Reads a file. Throws UsageError if the path is missing, outside the root directory, or not a file. */
  async read(file: string): Promise<Buffer> {
    refuseRemote(file)
    const path = resolve(this.root, file)
    try {
      const real = realpathSync(path)
      if (!real.startsWith(this.root + sep) && this.root !== sep)
        throw new UsageError(
          `${this.nameOf(file)} is outside of ${this.name}: only base directories may be outside of it`,
        )
      const { size } = statSync(real)
      if (size > maxBytes) throw new UsageError(`${this.nameOf(file)} is longer than ${maxBytes} bytes`)
      return await readFile(real)
    } catch (error) {
      if (error instanceof UsageError) throw error
      throw new UsageError(`cannot read ${this.nameOf(file)}: ${codeOf(error)}`)
    }
  }

  /** Reads a YAML or JSON file and parses its documents. */
  async documents(file: string): Promise<Json[]> {
    const text = (await this.read(file)).toString('utf8')
    return await parseSource({ name: this.nameOf(file), text })
  }

  /** Returns the files of another directory. The path of the directory is relative to this directory. */
  directory(path: string): RootFiles {
    return new RootFiles(resolve(this.root, path), join(this.name, path))
  }
}

const remote = /^(?:[a-z][a-z\d+.-]*:\/\/|git@|git::|github\.com[/:]|[^/]+@[^/]+:)|\?ref=|\.git(?:$|\?|\/\/)/i

function refuseRemote(path: string): void {
  if (remote.test(path))
    throw new UsageError(`cannot load ${path}: orchctl builds kustomizations without network access`)
}
