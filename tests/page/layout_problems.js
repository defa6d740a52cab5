// What is wrong with the layout of a page in a window of this width: what sticks out of it, texts that are cut or lie
// on each other, and what is too small for a finger.

(width) => {
  const problems = new Set();
  const SMALLEST = 24;
  const LARGE = 44;
  const HIDDEN = '.visually-hidden, .folds thead, .skip, .controls .role, .controls .commands .rest, svg, .uplot';
  const PRESSED = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  /** Stand alone, and not in a line of text or figures. */
  const ALONE = '.btn:not(.stop, .ways *), .field, .chip, summary, .top a';

  const about = (element) => {
    const named = (one) => [one.tagName.toLowerCase(), ...one.classList].join('.');
    return `${named(element.parentElement)} > ${named(element)} “${element.textContent.trim().slice(0, 20)}”`;
  };
  const note = (what, element, more) => problems.add(`${what}: ${about(element)} ${more}`);
  const ancestors = (element) => {
    const all = [];
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) all.push(one);
    return all;
  };
  const clips = (element) => getComputedStyle(element).overflowX !== 'visible';
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(HIDDEN);

  if (document.documentElement.scrollWidth > width) problems.add(`the page is ${document.documentElement.scrollWidth} px wide`);
  const shown = [...document.body.querySelectorAll('*')].filter(isShown);
  for (const element of shown) {
    const { left, right, width: own } = element.getBoundingClientRect();
    if (own && (right > width + 0.5 || left < -0.5) && !ancestors(element).some(clips)) {
      note('sticks out', element, `${Math.round(left)} to ${Math.round(right)}`);
    }
    const { display, overflowX, textOverflow } = getComputedStyle(element);
    const scrolls = overflowX === 'auto' || overflowX === 'scroll';
    const holds = overflowX !== 'visible' || element.matches(PRESSED);
    if (display === 'inline' || scrolls || textOverflow === 'ellipsis' || !holds) continue;
    if (element.scrollWidth > element.clientWidth + 1) note('is cut', element, `${element.scrollWidth} in ${element.clientWidth}`);
  }

  /** Lines of text, and what is pressed, as far as they can be seen. */
  const boxes = shown.flatMap((element) => {
    const around = [element, ...ancestors(element)];
    const layer = around.find((one) => ['absolute', 'fixed', 'sticky'].includes(getComputedStyle(one).position));
    const frames = around.filter(clips).map((one) => one.getBoundingClientRect());
    return drawn(element).map((box) => ({ element, layer, ...common([box, ...frames]) }));
  });
  function drawn(element) {
    if (element.matches('button, select, summary, .btn')) return [element.getBoundingClientRect()];
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    return texts.flatMap((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()];
    });
  }
  function common(boxes) {
    const most = (side) => Math.max(...boxes.map((box) => box[side]));
    const least = (side) => Math.min(...boxes.map((box) => box[side]));
    return { left: most('left'), top: most('top'), right: least('right'), bottom: least('bottom') };
  }
  // What is placed on the page, such as a bar at its end, covers the rest on purpose.
  boxes.forEach((one, index) => {
    for (const other of boxes.slice(index + 1)) {
      if (one.layer !== other.layer || one.element.contains(other.element)) continue;
      const { left, top, right, bottom } = common([one, other]);
      const low = Math.min(one.bottom - one.top, other.bottom - other.top);
      if (right - left > 3 && low > 0 && bottom - top > low / 2) note('is covered', one.element, `by ${about(other.element)}`);
    }
  });

  for (const element of shown.filter((one) => one.matches(PRESSED))) {
    if (element.tagName === 'A' && getComputedStyle(element).display === 'inline') continue;
    const ticked = ['checkbox', 'radio'].includes(element.type) && element.closest('label');
    const box = (ticked || element).getBoundingClientRect();
    const high = element.matches(ALONE) ? LARGE : SMALLEST;
    if (box.width < SMALLEST - 0.1 || box.height < high - 0.1) note('is small', element, `${box.width} × ${box.height}`);
  }
  return [...problems];
}
