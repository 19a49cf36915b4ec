// Builds a container image as an OCI archive, which `podman load` and `docker load` read. It needs no container engine.
// The image contains the executable, the system libraries that Node needs, and nothing else: no shell and no package
// manager. The server runs as an unprivileged user. The root file system can be read-only, because the server writes
// only to its data directory and to the temporary directory or shared memory.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const user = 65532
const dataDirectory = 'var/lib/orch'
const architectures = { x64: 'amd64', arm64: 'arm64' }
const types = {
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
}

/**
 * Writes the archive. `executable` is the single executable and `notices` the file with the licenses of its parts.
 */
export function packageImage({ executable, notices, version, archive }) {
  const work = mkdtempSync(join(tmpdir(), 'orch-image-'))
  try {
    const root = join(work, 'root')
    layOutRoot(root, { executable, notices })
    const layout = join(work, 'layout')
    writeLayout(layout, tarOf(root, join(work, 'layer.tar'), [dataDirectory]), version)
    writeFileSync(archive, tarOf(layout, join(work, 'image.tar')))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Creates the files of the image in a directory. */
export function layOutRoot(root, { executable, notices }) {
  for (const directory of ['usr/bin', 'usr/share/doc/orch', 'etc', 'proc', 'dev/shm', 'tmp', dataDirectory])
    mkdirSync(join(root, directory), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  copyFileSync(executable, join(root, 'usr/bin/orch'))
  symlinkSync('orch', join(root, 'usr/bin/orchctl'))
  copyFileSync(notices, join(root, 'usr/share/doc/orch/THIRD-PARTY-NOTICES.txt'))
  writeFileSync(join(root, 'etc/passwd'), `orch:x:${user}:${user}::/${dataDirectory}:/\n`)
  writeFileSync(join(root, 'etc/group'), `orch:x:${user}:\n`)
  for (const library of librariesOf(executable)) {
    mkdirSync(join(root, dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), join(root, library))
  }
}

/** Returns the paths of the dynamic linker and of the libraries that it loads for the executable. */
function librariesOf(executable) {
  const output = execFileSync('ldd', [executable], { encoding: 'utf8' })
  return [...output.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path)
}

/**
 * Returns a tar archive of a directory. The archive depends only on the content. `owned` lists the paths that belong to
 * the user of the image.
 */
function tarOf(directory, file, owned = []) {
  const tar = (owner, ...args) =>
    execFileSync(
      'tar',
      ['--sort=name', '--mtime=@0', '--numeric-owner', `--owner=${owner}`, `--group=${owner}`, ...args],
      {
        cwd: directory,
      },
    )
  tar(0, ...owned.map((path) => `--exclude=./${path}`), '-cf', file, '.')
  for (const path of owned) tar(user, '-rf', file, `./${path}`)
  return readFileSync(file)
}

function writeLayout(layout, layer, version) {
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  const add = (mediaType, content) => {
    const hex = sha256(content)
    writeFileSync(join(layout, 'blobs/sha256', hex), content)
    return { mediaType, digest: `sha256:${hex}`, size: content.length }
  }
  const layers = [add(types.layer, gzipSync(layer, { level: 9 }))]
  const config = add(types.config, json(imageConfig(layer)))
  const manifest = add(types.manifest, json({ schemaVersion: 2, mediaType: types.manifest, config, layers }))
  const annotations = { 'org.opencontainers.image.ref.name': version, 'io.containerd.image.name': `orch:${version}` }
  writeFileSync(join(layout, 'index.json'), json({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }))
  writeFileSync(join(layout, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
}

function imageConfig(layer) {
  const files = [`--data-dir=/${dataDirectory}/data`, `--admin-kubeconfig=/${dataDirectory}/admin.kubeconfig`]
  return {
    architecture: architectures[process.arch],
    os: 'linux',
    config: {
      User: `${user}:${user}`,
      Env: ['PATH=/usr/bin'],
      Entrypoint: ['/usr/bin/orch'],
      Cmd: ['up', '--bind-address=0.0.0.0', ...files],
      WorkingDir: `/${dataDirectory}`,
      Volumes: { [`/${dataDirectory}`]: {} },
      ExposedPorts: { '6443/tcp': {} },
      StopSignal: 'SIGTERM',
      // Docker reads this. Kubernetes uses the probes of the pod instead.
      Healthcheck: {
        Test: ['CMD', '/usr/bin/orch', 'status', `--kubeconfig=/${dataDirectory}/admin.kubeconfig`],
        Interval: 30e9,
        Timeout: 10e9,
        StartPeriod: 60e9,
      },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
  }
}

function json(value) {
  return Buffer.from(JSON.stringify(value))
}

function sha256(content) {
  return createHash('sha256').update(content).digest('hex')
}
