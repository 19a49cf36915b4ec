// `npm run package` builds what users install, for this machine's architecture, in `packages/`: the single executable, a
// container image, a Debian package, the licenses and the bill of materials, and SHA256SUMS. Two builds of one commit on the same system
// are byte-equal. The executable depends only on the commit. The image also contains libraries of the system.
import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDebian } from './debian.mjs'
import { packageExecutable } from './executable.mjs'
import { packageImage } from './image.mjs'

const root = join(import.meta.dirname, '../..')
const directory = join(root, 'packages')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const executable = await packageExecutable(directory)
const [notices, bill] = ['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'].map((name) => {
  copyFileSync(join(root, 'dist', name), join(directory, name))
  return join(directory, name)
})
const archive = join(directory, `orch-${version}-linux-${process.arch}.oci.tar`)
packageImage({ executable, notices, version, archive })
const debianPackage = await packageDebian({ executable, notices, version, directory })

const files = [executable, archive, debianPackage, notices, bill]
const sums = files.map((file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${nameOf(file)}\n`)
writeFileSync(join(directory, 'SHA256SUMS'), sums.join(''))
for (const file of files)
  console.log(`${(statSync(file).size / 1e6).toFixed(1).padStart(6)} MB  packages/${nameOf(file)}`)

function nameOf(file) {
  return file.slice(directory.length + 1)
}
