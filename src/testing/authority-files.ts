/**
 * The certificate authority of a test server, as the files that it made. Objects name it, such as `kube-root-ca.crt` in
 * every namespace, so it goes with a state: a server that begins with that state has the same authority.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The text of each file, by its path below the directory of the authority. */
export type AuthorityFiles = ReadonlyMap<string, string>

const folder = 'data/pki'

/** What the server in this directory has made. */
export function readAuthority(directory: string): AuthorityFiles {
  const place = join(directory, folder)
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name)
      return [file.slice(place.length + 1), readFileSync(file, 'utf8')]
    }),
  )
}

/** Puts it where a server in this directory looks for it. */
export function writeAuthority(directory: string, files: AuthorityFiles): void {
  for (const [name, text] of files) {
    const file = join(directory, folder, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, text, { mode: 0o600 })
  }
}
