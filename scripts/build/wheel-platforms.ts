// The systems for which a wheel can be built: those that have PostgreSQL on npm and Node.js on PyPI.

export interface WheelPlatform {
  /** As npm names the system. */
  os: string;
  cpu: string;
  libc?: string;
  /** As a wheel names it: the oldest system on which all programs of the wheel and Node.js run. */
  tag: string;
}

export const wheelPlatforms: Record<string, WheelPlatform> = {
  'linux-x64': { os: 'linux', cpu: 'x64', libc: 'glibc', tag: 'manylinux_2_28_x86_64' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', libc: 'glibc', tag: 'manylinux_2_28_aarch64' },
  'darwin-x64': { os: 'darwin', cpu: 'x64', tag: 'macosx_13_0_x86_64' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64', tag: 'macosx_13_0_arm64' },
  'windows-x64': { os: 'win32', cpu: 'x64', tag: 'win_amd64' },
};

/** The name of this system in `wheelPlatforms`, whether it is there or not. */
export const thisPlatform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
