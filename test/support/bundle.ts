/** Builds the bundles of this repository, from which the programs and the published libraries run. */

/** Rebuilds the bundle of a program or library if its sources have changed. */
export async function bundleIfStale(name: string): Promise<void> {
  const bundle = (await import(new URL('../../scripts/bundle.mjs', import.meta.url).href)) as {
    bundleIfStale(program: string): Promise<void>
  }
  await bundle.bundleIfStale(name)
}
