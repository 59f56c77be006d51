% Products and factorisations of matrices that every run makes alike: a line each, its name and its numbers. Of large ones every
% 17th element, and in a line of its own the sums of all rows and columns, which no wrong element leaves as they are.
1;
function tell(name, values)
  values = values(:);
  printf("%s", name);
  printf(" %.17g", [real(values); imag(values)]);
  printf("\n");
end
function show(name, values)
  if numel(values) <= 1000
    tell(name, values);
    return
  end
  tell(name, values(1:17:end));
  tell([name "_sums"], [sum(values, 1).'; sum(values, 2)]);
end
function x = make(rows, cols, kind)
  i = (1:rows)';
  j = 1:cols;
  x = sin(0.7 * i .* i + 1.3 * j) + cos(0.3 * i + 0.11 * j .* j);
  if any(strcmp(kind, {"c64", "c128"}))
    x = x + 1i * cos(0.2 * i .* j);
  end
  if any(strcmp(kind, {"f32", "c64"}))
    x = single(x);
  end
end
for kind = {"f32", "f64", "c64", "c128"}
  k = kind{1};
  a = make(230, 270, k);
  b = make(270, 190, k);
  square = make(150, 150, k) + 60 * eye(150);
  show([k "_product"], a * b);
  show([k "_transposed"], a.' * make(230, 170, k));
  show([k "_conjugated"], a' * make(230, 170, k));
  show([k "_square"], a * a');
  show([k "_vector"], a * make(270, 1, k));
  show([k "_dot"], make(999, 1, k)' * make(999, 1, k));
  show([k "_small"], a(1:4, 1:4) * b(1:4, 1:4));
  show([k "_solve"], square \ make(150, 7, k));
  show([k "_inverse"], inv(square));
  show([k "_determinant"], det(square / 60));
  show([k "_cholesky"], chol(square * square'));
  show([k "_singular"], svd(a));
end
