/**
 * The CA files of a test server. Objects such as the `kube-root-ca.crt` ConfigMap in every namespace contain the CA
 * certificate, so the CA is part of every snapshot, and a server that starts from a snapshot has the same CA.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Contents of the CA files, by path relative to the CA directory. */
export type AuthorityFiles = ReadonlyMap<string, string>

const folder = 'data/pki'

/** Reads the CA that the server in this directory created. */
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

/** Writes the CA to the location where a server in this directory expects it. */
export function writeAuthority(directory: string, files: AuthorityFiles): void {
  for (const [name, text] of files) {
    const file = join(directory, folder, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, text, { mode: 0o600 })
  }
}
