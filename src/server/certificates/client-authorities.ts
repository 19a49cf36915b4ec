/**
 * The CAs that verify client certificates (`--client-ca-file` and the self-signed CA), and the CAs that verify
 * certificates of authenticating proxies (`--requestheader-client-ca-file`). Files are reloaded when they change.
 */
import { X509Certificate } from 'node:crypto'
import { UsageError } from '../../base/flags/flags.ts'
import type { ServerOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { Reloading } from '../flags/reloading.ts'

/** The CAs for client certificates and for authenticating proxies, which are reloaded when their files change. */
export class ClientAuthorities {
  #own: readonly X509Certificate[] = []
  #ofFile: readonly X509Certificate[] = []
  #clients: readonly X509Certificate[] = []
  #proxies: readonly X509Certificate[] = []
  #onChange = () => {}

  /** Reads the files. Throws UsageError if a file is invalid. */
  constructor({ clientCaFile, requestheaderClientCaFile }: ServerOptions, reloading: Reloading) {
    this.#take('client-ca-file', clientCaFile, reloading, (certificates) => {
      this.#ofFile = certificates
      this.#clients = [...this.#own, ...certificates]
    })
    this.#take('requestheader-client-ca-file', requestheaderClientCaFile, reloading, (certificates) => {
      this.#proxies = certificates
    })
  }

  /** The CAs of clients. Each change creates a new array. */
  get clients(): readonly X509Certificate[] {
    return this.#clients
  }

  /** The CAs of authenticating proxies. Each change creates a new array. */
  get proxies(): readonly X509Certificate[] {
    return this.#proxies
  }

  /** All CAs in PEM format, for TLS. */
  get pem(): string[] {
    return [...this.#clients, ...this.#proxies].map((certificate) => certificate.toString())
  }

  /** Also accepts client certificates from this server's own CA. */
  addOwn(pem: string): void {
    this.#own = [new X509Certificate(pem)]
    this.#clients = [...this.#own, ...this.#ofFile]
  }

  /** Registers a callback for changes to the files, so that TLS can use the new CAs. */
  onChange(run: () => void): void {
    this.#onChange = run
  }

  #take(
    flag: string,
    file: string,
    reloading: Reloading,
    use: (certificates: readonly X509Certificate[]) => void,
  ): void {
    if (file === '') return
    reloading.follow(flag, [file], () => {
      use(readAuthorities(flag, file))
      this.#onChange()
    })
    use(readAuthorities(flag, file))
  }
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Reads a file that contains CAs. Throws UsageError if the file is invalid. */
export function readAuthorities(flag: string, file: string): X509Certificate[] {
  const blocks = readFlagFile(flag, file).match(pemBlock) ?? []
  if (blocks.length === 0) throw new UsageError(`--${flag}: ${file} contains no PEM certificate`)
  const certificates = blocks.map((pem, index) => {
    try {
      return new X509Certificate(pem)
    } catch {
      throw new UsageError(`--${flag}: certificate ${index + 1} in ${file} is invalid`)
    }
  })
  for (const [index, certificate] of certificates.entries()) {
    // TLS follows a chain to its root and does not trust an intermediate certificate on its own.
    if (!certificates.some((other) => certificate.checkIssued(other)))
      throw new UsageError(
        `--${flag}: certificate ${index + 1} in ${file} is signed by a CA that is not in the file: add the certificate of that CA`,
      )
  }
  return certificates
}
