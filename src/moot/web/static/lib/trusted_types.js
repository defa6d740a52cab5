// Addresses of scripts, for browsers that are told to run only what this module vouches for.

const policy = globalThis.trustedTypes?.createPolicy('moot', {
  createScriptURL(url) {
    if (!url.startsWith('/static/')) throw new TypeError(`not a script of ours: ${url}`);
    return url;
  },
});

export const scriptUrl = (url) => policy?.createScriptURL(url) ?? url;
