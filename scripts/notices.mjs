// Writes dist/THIRD-PARTY-NOTICES.txt, with the licenses of all packages that the bundle contains or needs, and
// dist/sbom.cdx.json, with the same packages as a CycloneDX bill of materials. Both files depend only on the packages,
// so two builds of one commit are equal.
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Licenses under which this package may include code, provided that it includes the license too. */
export const acceptedLicenses = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'])

/** Returns the packages of bundled files and the packages that npm installs with this one, sorted by name. */
export function shippedPackages(root, bundledFiles) {
  const bundled = bundledFiles.filter((file) => file.includes(folder)).map((file) => packageDirectory(root, file))
  const installed = installedDirectories(root)
  const directories = new Set([...bundled, ...installed].filter(existsSync).map((directory) => realpathSync(directory)))
  const packages = [...directories].map(readPackage)
  return packages.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Writes both files to a directory. */
export function writeNotices(root, bundledFiles, directory) {
  const packages = shippedPackages(root, bundledFiles)
  writeFileSync(join(directory, 'THIRD-PARTY-NOTICES.txt'), notices(packages))
  writeFileSync(join(directory, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(root, packages), undefined, 2)}\n`)
}

const folder = 'node_modules/'

function packageDirectory(root, file) {
  const start = file.lastIndexOf(folder) + folder.length
  const [first, second] = file.slice(start).split('/')
  return join(root, file.slice(0, start), first.startsWith('@') ? `${first}/${second}` : first)
}

/** npm installs all packages that are not marked as development dependencies and that the machine can run. */
function installedDirectories(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev = false }]) => path !== '' && !dev)
    .map(([path]) => join(root, path))
}

function readPackage(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return { name, version, license: license ?? 'unknown', text: licenseText(directory) }
}

/** Some packages state their license only as a word in package.json. In this case, the text is undefined. */
function licenseText(directory) {
  const file = readdirSync(directory).find((name) => /^(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i.test(name))
  return file === undefined ? undefined : readFileSync(join(directory, file), 'utf8').trim()
}

const line = '-'.repeat(80)

function notices(packages) {
  const sections = packages.map(
    ({ name, version, license, text }) =>
      `${line}\n${name} ${version}\nLicense: ${license}\n\n${text ?? `The package states its license as ${license}.`}\n`,
  )
  return `orch contains or installs the following packages.\n\n${sections.join('\n')}`
}

function billOfMaterials(root, packages) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...component({ name, version, license }) } },
    components: packages.map((each) => ({ type: 'library', ...component(each) })),
  }
}

function component({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: license } }] }
}
